def asking(topic: str = "", **more: str) -> str:
    return topic
