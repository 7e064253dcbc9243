"""The notes on how a question was read, in sentences."""

describe_author = "“{}” was read as an author.".format
describe_venue = "“{}” was read as a journal or conference.".format
describe_exclusion = "Papers about “{}” are excluded.".format
describe_preference = (
    "“{}” was read as a preference: papers that meet it rank higher; the others stay in the result.".format
)
