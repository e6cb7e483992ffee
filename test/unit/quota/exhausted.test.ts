import { expect, it } from 'vitest'
import { environmentOf, optionKeys } from '../../../src/core/config/config.ts'
import { exhausted, limitNames } from '../../../src/core/quota/limits.ts'

it('[LIM-60] the message of each exceeded limit names the limit, its value, the time to wait, and its option', () => {
  for (const limit of limitNames) {
    const { message, status } = exhausted(limit, 4_321, {
      problem: 'there are too many',
      remedy: 'end some',
      retryAfterSeconds: 17,
    })
    expect(status).toBe('RESOURCE_EXHAUSTED')
    expect(message).toContain(limit)
    expect(message).toContain('4321')
    expect(message).toContain('try again after 17 s')
    const option = optionKeys.find((key) => key === limit)
    if (option !== undefined) expect(message).toContain(environmentOf(option))
  }
})

it('[LIM-60] the time to wait is named once', () => {
  const { message } = exhausted('callsPerKey', 10, {
    problem: 'too many calls: the limit callsPerKey is 10 per second',
    remedy: 'try again after 3 s (Retry-After), call less often',
    retryAfterSeconds: 3,
  })
  expect(message.match(/after 3 s/g)).toHaveLength(1)
  expect(message.match(/callsPerKey/g)).toHaveLength(1)
})
