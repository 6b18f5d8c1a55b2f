/**
 * Loaded with --require: each SIGUSR2 makes 20 MB of objects that are all alive at the same time, then appends the size
 * of the part of the heap for short-lived objects to YOUNG_GENERATION_FILE, in MB.
 */
const { appendFileSync } = require('node:fs');
const { getHeapSpaceStatistics } = require('node:v8');

const file = process.env.YOUNG_GENERATION_FILE;
if (file !== undefined && process.argv[1]?.endsWith('index.js'))
  process.on('SIGUSR2', () => {
    const alive = Array.from({ length: 300_000 }, (_, at) => ({ at, list: [at] }));
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
    appendFileSync(file, `${size / 1024 / 1024} ${alive.length}\n`);
  });
