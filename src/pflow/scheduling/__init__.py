"""Runs of a workflow at fixed times, by the scheduler of the system: systemd, cron or launchd."""
