/** Builds dist/; with --watch also whenever something has changed, until it is stopped. */
import { createBundler } from './lib/bundle.mjs';

if (process.argv.includes('--watch')) {
  const bundler = await createBundler({
    built: (errors) => console.error(errors === 0 ? 'dist/ is up to date' : 'dist/ is left as it was'),
  });
  await bundler.watch();
} else {
  const bundler = await createBundler();
  // The errors have been printed already.
  await bundler.rebuild().catch(() => (process.exitCode = 1));
  await bundler.dispose();
}
