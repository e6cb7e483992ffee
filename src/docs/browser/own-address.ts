/** The address in the samples of the chapters. */
const written = 'localhost:8787'

/** Replaces the address in the samples of the page by the address of the server that has sent the page. */
export function showOwnAddress(): void {
  const { host, protocol } = location
  if (protocol === 'http:' && host === written) return
  const isSecure = protocol === 'https:'
  for (const code of document.querySelectorAll('main code')) {
    const text = code.textContent ?? ''
    if (!text.includes(written)) continue
    code.textContent = text
      .replaceAll(`http://${written}`, `${protocol}//${host}`)
      .replaceAll(`ws://${written}`, `${isSecure ? 'wss' : 'ws'}://${host}`)
  }
}
