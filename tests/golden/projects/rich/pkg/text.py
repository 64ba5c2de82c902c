def upper(text: str) -> str:
    return text.upper()


class PlainInput:
    x = 1  # not the model of the tool, nor is PointInput


plain: PlainInput | None = None  # UncheckedInput
