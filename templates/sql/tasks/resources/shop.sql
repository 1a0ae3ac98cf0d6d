CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), product TEXT, amount INTEGER, day TEXT);
INSERT INTO customers VALUES
  (1, 'Ada O''Neill', 'Paris'), (2, 'Boris', 'Lyon'), (3, 'Chloé', 'Paris'), (4, 'Dana', NULL), (5, 'Emil', 'Nice'), (6, 'Fay', 'Lyon');
INSERT INTO orders VALUES
  (1, 1, 'tea', 12, '2024-01-03'), (2, 1, 'cups', 30, '2024-01-09'), (3, 2, 'tea', 8, '2024-01-09'),
  (4, 3, 'coffee', 25, '2024-02-01'), (5, 3, 'tea', 14, '2024-02-11'), (6, 4, 'cups', 45, '2024-02-20'),
  (7, 2, 'coffee', 18, '2024-03-02'), (8, 1, 'tea', 10, '2024-03-05'), (9, 5, '50% off', 5, '2024-03-08'),
  (10, 3, 'tea', 14, '2024-03-09');
