"""The server an artifact carries for the application: uvicorn on h11, with a limit to everything."""
