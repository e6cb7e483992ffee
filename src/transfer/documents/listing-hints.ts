/** What helps where something is not there. */
export const listingHint = '`weft doc ls` shows all there are'
export const versionsHint = '`weft doc history` shows all there are'
