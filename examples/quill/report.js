// The report that the backend writes into the document, without any I/O: a delta in, a delta out.
import Delta from 'quill-delta'

const title = 'Report'

/** @returns the delta with a report, in place of the former report or at the end */
export function withReport(delta) {
  const lines = linesOf(delta)
  const found = lines.findIndex(isTitle)
  const start = found === -1 ? lines.length : found
  let end = found === -1 ? start : start + 1
  while (lines[end]?.format.list === 'bullet') end += 1
  const [before, after] = [lines.slice(0, start), lines.slice(end)]
  return deltaOf([...before, ...reportOn([...before, ...after]), ...after])
}

const isTitle = ({ content, format }) => format.header === 2 && textOf(content) === title

function reportOn(lines) {
  const words = lines.flatMap(({ content }) => textOf(content).match(/[\p{L}\p{N}’'-]+/gu) ?? [])
  const fact = (name, count) => ({
    content: new Delta().insert(`${name}: `).insert(String(count), { bold: true }),
    format: { list: 'bullet' },
  })
  return [
    { content: new Delta().insert(title), format: { header: 2 } },
    fact('Words', words.length),
    fact('Headings', lines.filter(({ format }) => format.header !== undefined).length),
    fact('List items', lines.filter(({ format }) => format.list !== undefined).length),
  ]
}

/**
 * In a delta, the line break at the end of a line has the format of the line, such as a heading or a list
 * item.
 */
function linesOf(delta) {
  const lines = []
  new Delta(delta).eachLine((content, format) => {
    lines.push({ content, format })
  })
  return lines
}

const deltaOf = (lines) =>
  lines.reduce((delta, { content, format }) => delta.concat(content).insert('\n', format), new Delta()).ops

const textOf = ({ ops }) => ops.map(({ insert }) => (typeof insert === 'string' ? insert : '')).join('')
