CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), product TEXT, amount INTEGER, day TEXT);
INSERT INTO customers VALUES
  (1, 'Nils', 'Nice'), (2, 'Ola', 'Paris'), (3, 'Pia', 'Nice'), (4, 'Quinn', 'Lyon'), (5, 'Rosa', 'Paris'), (6, 'Sol', 'Paris'), (7, 'Tom', 'Metz'), (8, 'Una', NULL);
INSERT INTO orders VALUES
  (1, 1, 'tea', 20, '2024-01-10'), (2, 1, 'tea', 20, '2024-01-11'), (3, 1, 'cups', 26, '2024-02-12'),
  (4, 3, 'coffee', 31, '2024-02-13'), (5, 5, 'tea', 6, '2024-03-14'), (6, 5, 'coffee', 28, '2024-03-15'),
  (7, 7, 'cups', 44, '2024-03-16'), (8, 6, '50% off', 2, '2024-04-17'), (9, 6, 'tea', 13, '2024-04-18');
