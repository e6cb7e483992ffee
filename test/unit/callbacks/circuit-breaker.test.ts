import { expect, it } from 'vitest'
import { CircuitBreakers } from '../../../src/callbacks/circuit-breaker.ts'
import { HeldClock } from '../../support/time/clock.ts'

const timeoutMs = 10_000
/** Time in ms of the first pause. */
const firstPauseMs = 2_000

it('[CALL-50] concurrent calls that fail together cause only the first pause', () => {
  const clock = new HeldClock()
  const breakers = new CircuitBreakers(clock)
  for (let call = 0; call < 64; call += 1) expect(breakers.admit('r', timeoutMs)).toBe(true)
  for (let call = 0; call < 64; call += 1) breakers.failed('r')
  expect(breakers.admit('r', timeoutMs)).toBe(false)
  clock.advance(firstPauseMs)
  expect(breakers.admit('r', timeoutMs)).toBe(true)
})

it('[CALL-50] the call that ends a pause is the only one until its timeout', () => {
  const clock = new HeldClock()
  const breakers = new CircuitBreakers(clock)
  for (let call = 0; call < 5; call += 1) breakers.failed('r')
  clock.advance(firstPauseMs)
  expect(breakers.admit('r', timeoutMs)).toBe(true)
  clock.advance(timeoutMs - 1)
  expect(breakers.admit('r', timeoutMs)).toBe(false)
  // The call has not reported a result, for example because no slot was free.
  clock.advance(1)
  expect(breakers.admit('r', timeoutMs)).toBe(true)
  breakers.failed('r')
  // The second pause is twice as long.
  clock.advance(2 * firstPauseMs - 1)
  expect(breakers.admit('r', timeoutMs)).toBe(false)
  clock.advance(1)
  expect(breakers.admit('r', timeoutMs)).toBe(true)
  breakers.succeeded('r')
  expect([breakers.admit('r', timeoutMs), breakers.admit('r', timeoutMs)]).toEqual([true, true])
})
