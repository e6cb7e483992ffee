import { array, assert, double, property, string } from 'fast-check'
import { expect, it } from 'vitest'

type Between = (low?: string, high?: string | null) => string

it('[EXB-5] finds a position between any two other positions, and keeps the text of positions short', async () => {
  const { href } = new URL('../../../examples/board/src/order.js', import.meta.url)
  const { between } = (await import(href)) as { between: Between }
  assert(
    property(array(double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 }), (spots) => {
      const places: string[] = []
      for (const spot of spots) {
        const at = Math.round(spot * places.length)
        const place = between(places[at - 1] ?? '', places[at] ?? null)
        expect(place > (places[at - 1] ?? '')).toBe(true)
        expect(at === places.length || place < (places[at] as string)).toBe(true)
        places.splice(at, 0, place)
      }
    }),
  )
  let last = ''
  for (let count = 0; count < 1000; count++) last = between(last)
  expect(last.length).toBeLessThan(100)
  // Other clients may have written any value.
  assert(property(string(), string(), (low, high) => between(low, high).length > 0))
})
