// A service that cannot start: writes some lines, and exits with the code that is its argument.
for (let line = 1; line <= 30; line++) console.error(`trouble ${line}`);
process.exitCode = Number(process.argv[2] ?? 1);
