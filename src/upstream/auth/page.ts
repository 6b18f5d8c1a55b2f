/** The page shown in the browser at the end of a login. Without scripts; the message is escaped. */
export function page({ ok, text }: { readonly ok: boolean; readonly text: string }): string {
  const title = ok ? 'Logged in' : 'Not logged in';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – Switchboard</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }
  h1 { font-size: 1.5rem; color: ${ok ? '#17692b' : '#a11b1b'} }
</style>
<h1>${title}</h1>
<p>${escaped(text)}</p>
<p>You can close this page.</p>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
