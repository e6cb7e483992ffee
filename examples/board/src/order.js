// Where a card stands in its column is a text; between any two there is always another one, so that whoever moves a card
// changes that card alone.
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** How far from the last one a card is put at the end: the next ones want room, too, and short texts. */
const step = 2

const random = (count) => Math.floor(Math.random() * count)
/** Two people who put cards to the same place at once should not come to the same text. */
const jitter = () => digits[1 + random(digits.length - 1)] + digits[1 + random(digits.length - 1)]

/** A text after `low` ('' is before all) and before `high` (null is after all). */
export function between(low = '', high = null) {
  const isLast = high === null && low !== ''
  let until = high !== null && high > low ? high : null
  let key = ''
  for (let at = 0; ; at++) {
    const from = Math.max(0, digits.indexOf(low[at] ?? '0'))
    const to = until?.[at] === undefined ? digits.length : digits.indexOf(until[at])
    const middle = isLast ? from + step : Math.floor((from + to) / 2)
    if (middle > from && middle < to) return key + digits[middle] + jitter()
    key += digits[from]
    if (to > from) until = null
  }
}
