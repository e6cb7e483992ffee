import { type AgentTask, partOf, replaceEach, replaceOnce } from './task.ts'

const usage = 'Install the package, and call one of its functions:\n\n```sh\nnpm install fast-uri\n```'
const review =
  '## Review\n\nA maintainer reads each change within a week:\n\n- a small change needs one reviewer\n- a change of stored data needs two'
const newUser = '[Notebook](https://example.com/notebook) - A notebook for lectures and exams'
const schemes: readonly (readonly [name: string, rfc: number])[] = [
  ['http', 2616],
  ['https', 2818],
  ['ws', 6455],
  ['wss', 6455],
  ['urn', 2141],
  ['urn:uuid', 4122],
]
const schemeItem = ([name, rfc]: readonly [string, number]): string =>
  `${name} \\[[RFC ${rfc}](http://www.ietf.org/rfc/rfc${rfc}.txt)]`
const startChapters = [
  '[Admin console](src/docs/console.md)',
  '[Comparison](src/docs/comparison.md)',
  '[Migration](src/docs/migration.md)',
]
const changelogStep = 'Write a line under "Unreleased" in the changelog.'
const otherExamples =
  '### Other examples\n\nFor a full example with a browser client communicating with a ws server, see the examples folder.\n\nOtherwise, see the test cases.'

/** Tasks that add, remove and move blocks, items and cells. */
export const structureTasks: readonly AgentTask[] = [
  {
    name: 'insert a paragraph and code after a heading',
    document: 'fast-uri',
    change: (markdown) => replaceOnce(markdown, '## Usage\n', `## Usage\n\n${usage}\n`),
    edits: () => [{ insert: { into: { heading: 'Usage' }, content: usage, format: 'markdown' } }],
  },
  {
    name: 'add a section before another one',
    document: 'contributing',
    change: (markdown) => replaceOnce(markdown, '## Release\n', `${review}\n\n## Release\n`),
    edits: () => [{ insert: { before: { heading: 'Release' }, content: review, format: 'markdown' } }],
  },
  {
    name: 'remove a paragraph',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(markdown, partOf(markdown, 'See [the docs](./doc/ws.md#new', '```js'), ''),
    edits: (block) => [{ remove: { target: { block: block('See the docs for more options.') } } }],
  },
  {
    name: 'remove a section',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(
        markdown,
        partOf(markdown, '### Round-trip time\n', '### Use the Node.js streams API\n'),
        '',
      ),
    edits: (block) => {
      const heading = block('Round-trip time', 2)
      return [{ remove: { target: { block: heading + 1 } } }, { remove: { target: { block: heading } } }]
    },
  },
  {
    name: 'move a section',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(
        replaceOnce(markdown, `${otherExamples}\n\n`, ''),
        '### Simple server\n',
        `${otherExamples}\n\n### Simple server\n`,
      ),
    edits: (block) => {
      const heading = block('Other examples', 2)
      return [
        ...[2, 1, 0].map((offset) => ({ remove: { target: { block: heading + offset } } })),
        { insert: { before: { heading: 'Simple server' }, content: otherExamples, format: 'markdown' } },
      ]
    },
  },
  {
    name: 'add an item to a list',
    document: 'yjs',
    change: (markdown) =>
      replaceOnce(
        markdown,
        'Digital workspaces for tutoring\n',
        `Digital workspaces for tutoring\n- ${newUser}\n`,
      ),
    edits: () => [
      {
        insert: { after: 'Digital workspaces for tutoring', content: `- ${newUser}`, format: 'markdown' },
      },
    ],
  },
  {
    name: 'add a nested item to a list',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(
        markdown,
        '  - [How to connect via a proxy?](#how-to-connect-via-a-proxy)\n',
        '  - [How to connect via a proxy?](#how-to-connect-via-a-proxy)\n  - [How to test a client?](#how-to-test-a-client)\n',
      ),
    edits: () => [
      {
        insert: {
          after: { quote: 'How to connect via a proxy?', occurrence: 1 },
          content: '- [How to test a client?](#how-to-test-a-client)',
          format: 'markdown',
        },
      },
    ],
  },
  {
    name: 'remove an item from a list',
    document: 'weft',
    change: (markdown) => replaceOnce(markdown, partOf(markdown, '- **Reference**', '- **Operating**'), ''),
    edits: (block) => [{ remove: { target: { block: block('Reference: ') } } }],
  },
  {
    name: 'move an item of a numbered list',
    document: 'contributing',
    change: (markdown) =>
      replaceEach(markdown, [
        [`\n4. ${changelogStep}`, ''],
        ['\n3. Change the code.', `\n3. ${changelogStep}\n4. Change the code.`],
      ]),
    edits: (block) => [
      { remove: { target: { block: block(changelogStep) } } },
      {
        insert: {
          before: { block: block('Change the code.') },
          content: `1. ${changelogStep}`,
          format: 'markdown',
        },
      },
    ],
  },
  {
    name: 'divide an item into nested items',
    document: 'weft',
    change: (markdown) =>
      replaceOnce(
        markdown,
        `- **Start**: ${startChapters.join(', ')}\n`,
        `- **Start**:\n${startChapters.map((chapter) => `  - ${chapter}\n`).join('')}`,
      ),
    edits: (block) => [
      {
        replace: {
          find: { block: block('Start: ') },
          with: `**Start**:\n\n${startChapters.map((chapter) => `- ${chapter}`).join('\n')}`,
          format: 'markdown',
        },
      },
    ],
  },
  {
    name: 'number the items of a list',
    document: 'fast-uri',
    change: (markdown) =>
      replaceEach(
        markdown,
        schemes.map((scheme, index) => [
          `\n- ${schemeItem(scheme)}`,
          `\n${index + 1}. ${schemeItem(scheme)}`,
        ]),
      ),
    edits: (block) => {
      const first = block('http [RFC')
      return [
        ...schemes.map((_scheme, index) => ({
          remove: { target: { block: first + schemes.length - 1 - index } },
        })),
        {
          insert: {
            before: { heading: 'Benchmarks' },
            content: schemes.map((scheme, index) => `${index + 1}. ${schemeItem(scheme)}`).join('\n'),
            format: 'markdown',
          },
        },
      ]
    },
  },
  {
    name: 'mark an item done and add another one',
    document: 'fast-uri',
    change: (markdown) =>
      replaceOnce(
        markdown,
        '- [ ] Be 100% iso compatible with uri-js\n',
        '- [x] Be 100% iso compatible with uri-js\n- [ ] Support IRIs\n',
      ),
    edits: () => [
      { attributes: { target: 'Be 100% iso compatible with uri-js', set: { checked: true } } },
      {
        insert: {
          after: 'Be 100% iso compatible with uri-js',
          content: '- [ ] Support IRIs',
          format: 'markdown',
        },
      },
    ],
  },
  {
    name: 'fill a cell of a table',
    document: 'weft',
    change: (markdown) =>
      replaceOnce(markdown, 'on its way to LevelDB | |\n', 'on its way to LevelDB | Yjs operations |\n'),
    edits: (block) => [
      { replace: { find: { block: block('on its way to LevelDB') + 1 }, with: 'Yjs operations' } },
    ],
  },
  {
    name: 'fill a row of a table',
    document: 'weft',
    change: (markdown) =>
      replaceOnce(
        markdown,
        '| hosted service | | a Yjs update, by REST; ProseMirror and Lexical documents, by its SDK |',
        '| hosted service only | in memory | a Yjs update, by REST; ProseMirror and Lexical documents, by its SDK for Node |',
      ),
    edits: (block) => {
      const first = block('hosted service')
      return [
        { replace: { find: { block: first }, with: 'hosted service only' } },
        { replace: { find: { block: first + 1 }, with: 'in memory' } },
        { insert: { after: 'Lexical documents, by its SDK', content: ' for Node' } },
      ]
    },
  },
  {
    name: 'add a row to a table',
    document: 'contributing',
    change: (markdown) =>
      replaceOnce(
        markdown,
        '`test/spec/docs.md` |\n',
        '`test/spec/docs.md` |\n| an example | `examples` | `test/e2e/examples` |\n',
      ),
    edits: (block) => [
      {
        insert: {
          after: { block: block('test/e2e/docs') },
          content:
            '| change | code | tests and rules |\n| - | - | - |\n| an example | `examples` | `test/e2e/examples` |',
          format: 'markdown',
        },
      },
    ],
  },
]
