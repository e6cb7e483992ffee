import { array, assert, constantFrom, dictionary, oneof, property, string } from 'fast-check'
import { expect, it } from 'vitest'
import { notificationLimits } from '../../../src/capabilities/notifications/limits.ts'
import type { NotificationRecord } from '../../../src/capabilities/notifications/notification-records.ts'
import { renderHeadline } from '../../../src/capabilities/notifications/template.ts'

const record = (
  displayHeadlineMessageTemplate: string,
  displayHeadlineMessageTemplateData: Readonly<Record<string, unknown>> = {},
): NotificationRecord => ({
  id: 'n',
  documentId: 'd',
  actionUser: { userId: 'eve' },
  displayHeadlineMessageTemplate,
  displayHeadlineMessageTemplateData,
  displayBodyMessage: '',
  notifyUsers: [],
  notifyAll: true,
  notificationSourceData: {},
  createdAt: 0,
  lastUpdated: 0,
})
const ann = { userId: 'ann', name: 'Ann' }

it('[NOTE-6] reads a data member with any name, but never a member of the prototype', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(renderHeadline(record(`{${name}}`), ann)).toBe(`{${name}}`)
    const data = JSON.parse(`{"${name}": "mine"}`) as Record<string, unknown>
    expect(renderHeadline(record(`{${name}}`, data), ann)).toBe('mine')
  }
})

it('[NOTE-6] fills in the recipient and the acting user, and prefers the values in the data', () => {
  const template = '{actionUser}, {recipientUser}'
  expect(renderHeadline(record(template), ann)).toBe('eve, Ann')
  expect(renderHeadline(record(template), null)).toBe('eve, {recipientUser}')
  const data = { recipientUser: 'you', actionUser: { userId: 'x', name: 'Xaver' } }
  expect(renderHeadline(record(template, data), ann)).toBe('Xaver, you')
  expect(renderHeadline(record('{a}{b}{c}{d}', { a: null, b: [1], c: { x: 1 }, d: false }), ann)).toBe(
    '{a}{b}{c}false',
  )
})

it('[NOTE-6] limits the length of a headline, and does not split a character', () => {
  const long = renderHeadline(record('x{a}'.repeat(500), { a: '😀'.repeat(4_000) }), ann)
  expect(long.length).toBeLessThanOrEqual(notificationLimits.headlineLength)
  expect(long.length).toBeGreaterThanOrEqual(notificationLimits.headlineLength - 1)
  expect(long.isWellFormed()).toBe(true)
})

it('[NOTE-6] keeps the text around placeholders, even if it contains braces', () => {
  const piece = oneof(constantFrom('{', '}', '{{', '{a}', '{ a}', '{b', 'text'), string())
  assert(
    property(
      array(piece, { maxLength: 20 }),
      dictionary(constantFrom('a', 'b'), string()),
      (pieces, data) => {
        const template = pieces.join('')
        const expected = template
          .split(/(\{[^{}]+\})/)
          .map((part) => {
            const name = part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1) : ''
            return Object.hasOwn(data, name) ? data[name] : name === 'actionUser' ? 'eve' : part
          })
          .join('')
        expect(renderHeadline(record(template, data), null)).toBe(expected)
      },
    ),
  )
})
