"""What all values of the API have in common."""

from datetime import timezone
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

Time = Annotated[AwareDatetime, AfterValidator(lambda time: time.astimezone(timezone.utc))]
"""A moment, in UTC. A time without a zone is refused."""


def json_name(attribute: str) -> str:
    """Returns the name that the API gives an attribute."""
    first, *rest = attribute.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


class Model(BaseModel):
    """A value of the API. A later server may send fields that this class does not have: they are ignored."""

    model_config = ConfigDict(
        alias_generator=json_name,
        populate_by_name=True,
        extra="ignore",
        # Classes that a program does not use cost no time when it starts.
        defer_build=True,
        # An error must not show a password or a token.
        hide_input_in_errors=True,
    )

    def to_json(self) -> bytes:
        """Returns the JSON of the fields that were set. `None` is sent as null, which for a PATCH is not the same as
        absent."""
        return self.model_dump_json(by_alias=True, exclude_unset=True).encode()
