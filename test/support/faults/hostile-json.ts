import type { Random } from '../data/random-doc.ts'

/** JSON texts that replace values at random places of a body. */
const texts: readonly string[] = [
  'null',
  'true',
  '0',
  '-1',
  '-0',
  '0.5',
  '1e400',
  '-1e308',
  '9007199254740993',
  '1767225600000',
  '""',
  '" "',
  '"."',
  '".."',
  '"../../etc/passwd"',
  '"a/b"',
  '"%2e%2e%2f"',
  '"root"',
  '"__proto__"',
  '"constructor"',
  '"\\u0000"',
  '"\\u001f"',
  '"\\ud800"',
  '"\\ufeff"',
  '"👩‍👩‍👧"',
  '"e\\u0301"',
  '"<script>alert(1)</script>"',
  '"2026-13-45T99:99:99Z"',
  '"AAA=A"',
  `"${'x'.repeat(512)}"`,
  `"${'é'.repeat(300)}"`,
  `"${'y'.repeat(70_000)}"`,
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '[{}]',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"toString":1,"valueOf":null,"then":{}}',
  '{"a":1,"a":{"b":2}}',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
  `[${'0,'.repeat(20_000)}0]`,
  `[${'{"id":"a"},'.repeat(600)}{}]`,
]

const mark = '@hostile@'
const stringMark = '@string@'
const strings = texts.filter((text) => text.startsWith('"'))

type Place =
  | { readonly of: unknown[]; readonly key: number }
  | { readonly of: JsonObject; readonly key: string }
type JsonObject = Record<string, unknown>

function placesIn(value: unknown): Place[] {
  if (Array.isArray(value)) {
    const of: unknown[] = value
    return of.flatMap((each, key) => [{ of, key }, ...placesIn(each)])
  }
  if (typeof value !== 'object' || value === null) return []
  const of = value as JsonObject
  return Object.entries(of).flatMap(([key, each]) => [{ of, key }, ...placesIn(each)])
}

function change({ of, key }: Place, random: Random): void {
  const kind = random.below(10)
  if (Array.isArray(of)) {
    const at = key as number
    if (kind === 0) of.splice(at, 1)
    else if (kind === 1) of.push(...of)
    else of[at] = mark
    return
  }
  const name = key as string
  if (kind === 0) delete of[name]
  else if (kind === 1) of[random.pick(['extra', 'hasOwnProperty', ''])] = mark
  else if (kind === 2) of[name] = Array.from({ length: 3 }, () => of[name])
  else if (typeof of[name] !== 'string') of[name] = mark
  else if (kind === 3) of[name] += random.pick(['\n', '/x', '😀', ' '])
  // A text often replaces a text, because only a value of the right type is accepted by the schema.
  else of[name] = random.pick([mark, stringMark, stringMark])
}

/** Replaces the hosts in all URLs with the loopback address, so that no URL leads to another machine. */
const onlyLoopback = (text: string): string => text.replaceAll(/:\/\/[^/"\\]+/g, '://127.0.0.1')

/**
 * Returns the text of a body in which one to three places of `data` are changed. Sometimes the member `data`
 * occurs twice.
 */
export function hostileBody(data: object, random: Random): string {
  const changed = structuredClone(data)
  for (let count = 1 + random.below(3); count > 0; count--) {
    const places = placesIn(changed)
    if (places.length > 0) change(random.pick(places), random)
  }
  const text = JSON.stringify(changed)
    .replaceAll(`"${mark}"`, () => random.pick(texts))
    .replaceAll(`"${stringMark}"`, () => random.pick(strings))
  const twice = random.below(20) === 0 ? `"data":${random.pick(texts)},` : ''
  return onlyLoopback(`{${twice}"data":${text}}`)
}

/** Returns one body for each string in `data`. In each body, the JSON `text` replaces this string. */
export function bodiesWith(data: object, text: string): readonly string[] {
  return placesIn(data).flatMap((_, index) => {
    const changed = structuredClone(data)
    const { of, key } = placesIn(changed)[index] as Place
    const members = of as Record<string | number, unknown>
    if (typeof members[key] !== 'string') return []
    members[key] = mark
    return [onlyLoopback(JSON.stringify({ data: changed }).replace(`"${mark}"`, () => text))]
  })
}
