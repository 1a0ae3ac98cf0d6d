CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), product TEXT, amount INTEGER, day TEXT);
INSERT INTO customers VALUES
  (1, 'Gus', 'Lyon'), (2, 'Hana', 'Nice'), (3, 'Ivo', NULL), (4, 'Jo', 'Paris'), (5, 'Kim', 'Brest'), (6, 'Lea', NULL), (7, 'Mo', 'Lyon');
INSERT INTO orders VALUES
  (1, 4, 'coffee', 21, '2024-01-01'), (2, 4, 'tea', 9, '2024-01-30'), (3, 3, 'tea', 33, '2024-02-02'),
  (4, 2, 'cups', 11, '2024-02-03'), (5, 1, '50% off', 7, '2024-02-04'), (6, 1, 'tea', 16, '2024-03-05'),
  (7, 4, 'cups', 50, '2024-03-06'), (8, 5, 'tea', 16, '2024-04-07'), (9, 4, 'tea', 9, '2024-04-08'),
  (10, 1, 'coffee', 40, '2024-04-09'), (11, 1, '50% off', 3, '2024-04-10');
