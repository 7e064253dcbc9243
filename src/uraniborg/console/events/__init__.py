"""The event stream: the changes of all processes, sent to the open pages."""
