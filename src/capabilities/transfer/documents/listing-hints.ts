/** Hints that follow an error about a document or version that does not exist. */
export const listingHint = '`weft doc ls` shows all there are'
export const versionsHint = '`weft doc history` shows all there are'
