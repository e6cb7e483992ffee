import { expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'

const debugOf = (text: string) =>
  readConfig({ flags: {}, environment: { WEFT_DEBUG: text }, file: null }).config.debug

it('[TRACE-8] reads documents, editors and clients, with percent-encoded ids', () => {
  expect(debugOf('document:acme/notes, document:a%2Fb/c%2Cd/main,client:ada:1')).toMatchObject([
    { kind: 'document', organizationId: 'acme', documentId: 'notes', editorId: null },
    { kind: 'document', organizationId: 'a/b', documentId: 'c,d', editorId: 'main' },
    { kind: 'client', userId: 'ada:1' },
  ])
  expect(debugOf('')).toEqual([])
})

it.each([
  ['true', /^WEFT_DEBUG cannot be used: "true" is not a target of a trace; expected `document:/],
  ['acme/notes', /"acme\/notes" is not a target/],
  ['documnet:acme/notes', /"documnet:acme\/notes" is not a target of a trace \(did you mean document\?\)/],
  ['client:ada,user:bob', /"user:bob" is not a target/],
  ['client:ada,', /"" is not a target/],
  ['document:acme', /"document:acme" has 1 id; expected/],
  ['document:a/b/c/d', /"document:a\/b\/c\/d" has 4 ids/],
  ['document:acme/', /has an id that is empty or not percent-encoded/],
  ['document:acme/%', /has an id that is empty or not percent-encoded/],
  ['client:', /has an id that is empty/],
  ['client:a/b', /"client:a\/b" has 2 ids/],
])('[TRACE-8] rejects WEFT_DEBUG=%s with the invalid target and the expected form', (text, message) => {
  expect(() => debugOf(text)).toThrow(message)
})
