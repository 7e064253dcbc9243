"""What replies of the console have in common."""

from pydantic import BaseModel, ConfigDict


class ApiReply(BaseModel):
    """A reply whose known fields are declared. Fields that a service adds are sent, too."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
