import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { memberText } from '../../../src/core/model/member-text.ts'
import { withEncodedData } from '../../../src/rest/editor-content.ts'

it('[API-71] finds the text of a member', () => {
  const name = fc.constantFrom('data', 'other', 'a:b', '{"data":1', '\\"')
  const object = fc.array(fc.tuple(name, fc.json(), fc.constantFrom('', ' ', '\n')), { maxLength: 5 })
  const property = fc.property(object, (members) => {
    const text = members.map(
      ([key, json, space]) => `${space}${JSON.stringify(key)}${space}:${space}${json}${space}`,
    )
    const all = `{${text.join(',')}}`
    const found = memberText(all, 'data')
    const wanted: unknown = JSON.parse(all).data
    expect(found === null ? undefined : JSON.parse(found)).toEqual(wanted)
  })
  fc.assert(property, { numRuns: 500 })
  expect(memberText('{"d\\u0061ta":[1],"x":{"data":2}}', 'data')).toBe('[1]')
})

it('[API-71] takes large content as JSON, and any other content as it is', () => {
  const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  const encoded = (type: 'map' | 'text', data: unknown): unknown => {
    const request = { ...editor, type, data }
    return withEncodedData(request, JSON.stringify({ data: request })).data
  }
  const large = { data: { text: 'é'.repeat(300_000) } }
  expect(encoded('map', large)).toEqual(Buffer.from(JSON.stringify(large)))
  const small = { data: 1 }
  expect(encoded('map', small)).toBe(small)
  expect(encoded('text', large.data.text)).toBe(large.data.text)
})
