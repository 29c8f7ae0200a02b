"""Local web application: games against agents and people, analysis, and replays in the browser."""
