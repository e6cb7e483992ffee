// The order of a card in its column is a text. There is always another text between any two, so a move
// changes the moved card only.
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Distance of a card at the end from the last one: later cards need room also, and short texts. */
const step = 2

const random = (count) => Math.floor(Math.random() * count)
/** Two users who move cards to one place at once must not get the same text. */
const jitter = () => digits[1 + random(digits.length - 1)] + digits[1 + random(digits.length - 1)]

/** Returns a text after `low` ('' is before all) and before `high` (null is after all). */
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
