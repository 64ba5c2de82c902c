"""Client requests: elicitation, sampling and roots that calls request from the client, in both eras."""
