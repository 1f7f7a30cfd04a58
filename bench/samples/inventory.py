"""A small inventory, the sample of `make demo`."""

from dataclasses import dataclass


@dataclass
class Item:
    name: str
    price: float
    count: int


class Inventory:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def total_count(self):
        return sum(item.count for item in self.items)

    def total_price(self):
        

    def cheapest(self):
        return min(self.items, key=lambda item: item.price)
