"""Read objects, trees and history."""
