"""What people write: words, phrases, years of publication and boolean queries; and the wording of messages."""
