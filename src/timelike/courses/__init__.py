"""What was measured: courses and the designs they share, validated once, immutable."""

from timelike.courses.time_courses import TimeCourses

__all__ = ["TimeCourses"]
