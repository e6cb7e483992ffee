import { shortened } from '../../../base/text.ts'

/** Maximum number of UTF-16 units of a text in a message. */
const shownMax = 60

/** Returns a text in quotes for a message. */
export const shownText = (text: string): string => JSON.stringify(shortened(text.toWellFormed(), shownMax))
