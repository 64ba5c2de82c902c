"""The bundled HTTP server: uvicorn on h11, with a limit for everything."""
