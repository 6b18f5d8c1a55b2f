/**
 * What a browser does with a page of identity-provider.mjs: follows redirects, with cookies, until there are no more or the
 * address is the one that is waited for, which is not visited then.
 */
export async function browse(
  page: string | URL,
  isEnd: (address: URL) => boolean = () => false,
): Promise<{ readonly at: URL; readonly status?: number; readonly text?: string }> {
  const cookies = new Map<string, string>();
  let at = new URL(page);
  for (let step = 0; step < 12; step++) {
    if (isEnd(at)) return { at };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const to = response.headers.get('location');
    if (to === null) return { at, status: response.status, text: await response.text() };
    at = new URL(to, at);
  }
  throw new Error('The provider does not come to an end.');
}
