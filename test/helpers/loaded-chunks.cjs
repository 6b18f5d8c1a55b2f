/** Loaded with --require: when the program ends, writes the files it has loaded to LOADED_CHUNKS_FILE. */
const { writeFileSync } = require('node:fs');

const file = process.env.LOADED_CHUNKS_FILE;
if (file !== undefined && process.argv[1]?.endsWith('index.js'))
  process.on('exit', () => writeFileSync(file, JSON.stringify(Object.keys(require.cache))));
