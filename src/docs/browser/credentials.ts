/**
 * Returns the storage key of a credential of the reader, by the name of the header. The browser deletes the
 * stored credentials when the tab closes. They are never part of a URL.
 */
const keyOf = (header: string): string => `weft-docs:${header}`

export function storedCredential(header: string): string {
  try {
    return sessionStorage.getItem(keyOf(header)) ?? ''
  } catch {
    // The browser forbids storage. The reader must enter the credentials on each page.
    return ''
  }
}

/**
 * Stores a credential of the reader.
 * @param value an empty text removes the credential
 */
export function storeCredential(header: string, value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(keyOf(header))
    else sessionStorage.setItem(keyOf(header), value)
  } catch {
    // The browser forbids storage.
  }
}
