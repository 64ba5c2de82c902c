prompt_p() { :; }
