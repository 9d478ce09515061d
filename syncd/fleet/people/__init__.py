"""What runs leave for people: notifications, plans that wait for an approval, and how repositories are."""
