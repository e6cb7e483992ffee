import { type AgentTask, replaceEach, replaceOnce } from './task.ts'

/** Tasks that change words, formatting, links and attributes. */
export const textTasks: readonly AgentTask[] = [
  {
    name: 'correct the spelling of a word',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(markdown, 'a simple to use, blazing fast', 'a simple-to-use, blazing fast'),
    edits: () => [
      { replace: { find: 'a simple to use, blazing fast', with: 'a simple-to-use, blazing fast' } },
    ],
  },
  {
    name: 'correct the wording of a sentence',
    document: 'yjs',
    change: (markdown) =>
      replaceOnce(
        markdown,
        'I will attend your issues quicker and we can discuss questions and problems in regular video conferences.',
        'I will work on your issues first, and we can discuss questions and problems in regular video calls.',
      ),
    edits: () => [
      {
        replace: {
          find: 'I will attend your issues quicker and we',
          with: 'I will work on your issues first, and we',
        },
      },
      { replace: { find: 'regular video conferences', with: 'regular video calls' } },
    ],
  },
  {
    name: 'rename a term in a paragraph',
    document: 'yjs',
    change: (markdown) =>
      replaceEach(markdown, [
        ['A relative position is fixated', 'A stable position is fixated'],
        ['the relative position is attached', 'the stable position is attached'],
        ['When the relative position is set', 'When the stable position is set'],
      ]),
    edits: () =>
      ['is fixated', 'is attached', 'is set'].map((after) => ({
        replace: { find: { quote: 'relative position', after }, with: 'stable position' },
      })),
  },
  {
    name: 'remove a sentence from a paragraph',
    document: 'contributing',
    change: (markdown) =>
      replaceOnce(
        markdown,
        ' With `WEFT_TEST_ALL=1`, a missing program is an error, and the long tests run too.',
        '',
      ),
    edits: () => [
      {
        remove: {
          target: ' With WEFT_TEST_ALL=1, a missing program is an error, and the long tests run too.',
        },
      },
    ],
  },
  {
    name: 'change words in bold',
    document: 'weft',
    change: (markdown) => replaceOnce(markdown, '**Viewers change nothing**', '**Viewers cannot edit**'),
    edits: () => [{ replace: { find: 'Viewers change nothing', with: 'Viewers cannot edit' } }],
  },
  {
    name: 'make a phrase bold',
    document: 'contributing',
    change: (markdown) =>
      replaceOnce(markdown, 'first write a test that fails', '**first write a test that fails**'),
    edits: () => [{ mark: { find: 'first write a test that fails', name: 'bold', value: {} } }],
  },
  {
    name: 'change the address of a link',
    document: 'yjs',
    change: (markdown) =>
      replaceOnce(
        markdown,
        '[Gitter](https://gitter.im/Yjs/community)',
        '[Gitter](https://app.gitter.im/#/room/yjs)',
      ),
    edits: () => [
      { replace: { find: 'Gitter', with: '[Gitter](https://app.gitter.im/#/room/yjs)', format: 'markdown' } },
    ],
  },
  {
    name: 'change the text of a link and words around it',
    document: 'weft',
    change: (markdown) =>
      replaceEach(markdown, [
        [
          'put a [TLS proxy](src/docs/proxies.md) in front',
          'put a [reverse proxy with TLS](src/docs/proxies.md) in front',
        ],
        ['Before other people connect, put', 'Before you let others connect, put'],
      ]),
    edits: () => [
      { replace: { find: { quote: 'TLS proxy', after: ' in front' }, with: 'reverse proxy with TLS' } },
      { replace: { find: 'Before other people connect', with: 'Before you let others connect' } },
    ],
  },
  {
    name: 'change a value in a code block',
    document: 'ws',
    change: (markdown) =>
      replaceOnce(markdown, 'port: 8080,\n  perMessageDeflate', 'port: 3000,\n  perMessageDeflate'),
    edits: () => [
      { replace: { find: { quote: 'port: 8080', after: ', perMessageDeflate' }, with: 'port: 3000' } },
    ],
  },
  {
    name: 'set the language of a code block',
    document: 'ws',
    change: (markdown) => replaceOnce(markdown, '```\nnpm install ws\n```', '```sh\nnpm install ws\n```'),
    edits: () => [{ attributes: { target: 'npm install ws', set: { language: 'sh' } } }],
  },
  {
    name: 'set the level of a heading',
    document: 'yjs',
    change: (markdown) => replaceOnce(markdown, '#### Obfuscating Updates', '### Obfuscating Updates'),
    edits: () => [{ attributes: { target: { heading: 'Obfuscating Updates' }, set: { level: 3 } } }],
  },
  {
    name: 'mark an item done',
    document: 'fast-uri',
    change: (markdown) => replaceOnce(markdown, '- [ ] Support MailTo', '- [x] Support MailTo'),
    edits: () => [{ attributes: { target: 'Support MailTo', set: { checked: true } } }],
  },
  {
    name: 'make three edits in one call',
    document: 'contributing',
    change: (markdown) =>
      replaceEach(markdown, [
        ['about 5 minutes on 2 cores', 'about 8 minutes on 2 cores'],
        ['To fix a bug, do the same: first', 'If you fix a bug, do the same: first'],
        ['## Find the place of a change', '## Find the code of a change'],
      ]),
    edits: () => [
      { replace: { find: 'about 5 minutes', with: 'about 8 minutes' } },
      { replace: { find: 'To fix a bug', with: 'If you fix a bug' } },
      { replace: { find: { heading: 'Find the place of a change' }, with: 'Find the code of a change' } },
    ],
  },
  {
    name: 'answer a comment at a sentence',
    document: 'ws',
    comment: {
      quote: 'Node.js has a variety of issues with high-performance compression',
      question: 'Can we state this more precisely?',
      answer: 'The sentence names fragmentation of memory now.',
    },
    change: (markdown) =>
      replaceOnce(
        markdown,
        'Node.js has a variety of issues with high-performance compression',
        'Node.js can fragment memory during high-performance compression',
      ),
    edits: (_block, anchor) => [
      {
        replace: {
          find: { anchor },
          with: 'Node.js can fragment memory during high-performance compression',
        },
      },
    ],
  },
  {
    name: 'answer a comment in a table',
    document: 'contributing',
    comment: {
      quote: 'about an hour',
      question: 'It takes 40 minutes on the new machine.',
      answer: 'Thank you, corrected.',
    },
    change: (markdown) => replaceOnce(markdown, 'on Debian (about an hour)', 'on Debian (about 40 minutes)'),
    edits: (_block, anchor) => [{ replace: { find: { anchor }, with: 'about 40 minutes' } }],
  },
]
