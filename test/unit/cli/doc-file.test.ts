import { expect, it } from 'vitest'
import { parseFileContent } from '../../../src/cli/doc/file.ts'

const shape = 'expected {"type", "contentKey", "data"} as `doc get` prints it'
const alone = `${shape}, or the content alone with --type`
const unknown = (name: string): string => `the file has the unknown member "${name}"`

it.each([
  [
    '{"type":"text","contntKey":"a","data":"x"}',
    `${unknown('contntKey')} (did you mean contentKey?); ${shape}`,
  ],
  ['{"typ":"text","data":"x"}', `${unknown('typ')} (did you mean type?); ${shape}`],
  ['{"type":"text","data":"x","more":1}', `${unknown('more')}; ${shape}`],
  ['{"a":1}', `type must be present; ${alone}`],
  ['[1]', `the value must be object; ${alone}`],
  ['{"type":"text"}', `data must be present; ${alone}`],
  ['{"type":1,"data":"x"}', `type must be string; ${alone}`],
  ['{"type":"text","contentKey":1,"data":"x"}', `contentKey must be string or null; ${alone}`],
  ['{"type":"text","data":"x"', 'the file is not JSON: '],
])('[OUT-14] the file %s is rejected with the unknown member and the expected form', (text, message) => {
  for (const flags of [{}, { format: 'json' }] as const)
    expect(() => parseFileContent(Buffer.from(text), flags)).toThrow(message)
})
