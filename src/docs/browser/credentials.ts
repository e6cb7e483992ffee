/** The credentials of the reader, by the name of the header. They end with the tab, and are in no URL. */
const keyOf = (header: string): string => `weft-docs:${header}`

export function storedCredential(header: string): string {
  try {
    return sessionStorage.getItem(keyOf(header)) ?? ''
  } catch {
    // The browser forbids storage. The reader enters the credentials on each page.
    return ''
  }
}

/** @param value empty text removes the credential */
export function storeCredential(header: string, value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(keyOf(header))
    else sessionStorage.setItem(keyOf(header), value)
  } catch {
    // As above.
  }
}
