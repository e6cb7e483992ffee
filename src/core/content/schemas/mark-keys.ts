/** An attribute that y-prosemirror shows and does not store. */
export const changeAttribute = 'ychange'

/** Key of a mark that may overlap with others of its name, as y-prosemirror writes it. */
const hashedKey = /^(.*)--[a-zA-Z0-9+/=]{8}$/

/** Returns the name of the mark that is stored with a key. */
export const markName = (key: string): string => hashedKey.exec(key)?.[1] ?? key

/** Returns whether a key has the form of marks that may overlap. */
export const isHashedKey = (key: string): boolean => hashedKey.test(key)
