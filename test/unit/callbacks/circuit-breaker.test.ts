import { expect, it } from 'vitest'
import { CircuitBreakers } from '../../../src/capabilities/callbacks/circuit-breaker.ts'
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

it('[CALL-74] invalid responses about several documents pause the calls, those about one document do not', () => {
  const breakers = new CircuitBreakers(new HeldClock())
  for (let call = 0; call < 20; call += 1) breakers.failed('r', `document ${call % 2}`)
  expect(breakers.isPaused('r')).toBe(false)
  for (let call = 0; call < 5; call += 1) breakers.failed('r', `other ${call}`)
  expect(breakers.isPaused('r')).toBe(true)
})

it('[CALL-74] an invalid response to the call that ends a pause extends the pause', () => {
  const clock = new HeldClock()
  const breakers = new CircuitBreakers(clock)
  for (let call = 0; call < 5; call += 1) breakers.failed('r', `document ${call}`)
  clock.advance(firstPauseMs)
  expect(breakers.admit('r', timeoutMs)).toBe(true)
  breakers.failed('r', 'document 0')
  clock.advance(2 * firstPauseMs - 1)
  expect(breakers.isPaused('r')).toBe(true)
  clock.advance(1)
  expect(breakers.isPaused('r')).toBe(false)
})

it('[CALL-75] counts the receivers whose calls are paused, and forgets those that nothing calls any more', () => {
  const clock = new HeldClock()
  const breakers = new CircuitBreakers(clock)
  for (const receiver of ['a', 'b', 'c'])
    for (let call = 0; call < 5; call += 1) {
      expect(breakers.open).toBe(receiver.charCodeAt(0) - 'a'.charCodeAt(0))
      breakers.failed(receiver)
    }
  expect(breakers.open).toBe(3)
  breakers.succeeded('b')
  expect(breakers.open).toBe(2)
  clock.advance(firstPauseMs)
  expect(breakers.admit('c', timeoutMs)).toBe(true)
  breakers.failed('c')
  clock.advance(300_000)
  expect(breakers.open).toBe(1)
  clock.advance(60_000)
  expect(breakers.open).toBe(0)
})
