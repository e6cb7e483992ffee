const ms = (value) => (value === null ? '–' : `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`)
const row = (cells) => cells.map((cell, at) => (at === 0 ? cell.padEnd(28) : cell.padStart(11))).join('')
const line = (name, { p50, p99, worst, count }) => row([name, ms(p50), ms(p99), ms(worst), String(count)])
const listed = (counts) =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ') || 'none'

/** Beyond these values the program measures itself. */
const limits = { cpuPercent: 80, lateP99: 20 }

/** Formats the results for people. */
export function report({ url, documents, clients, seconds, rate }, found) {
  const { own } = found
  const isLimit = own.cpuPercent > limits.cpuPercent || own.lateP99 > limits.lateP99
  return [
    `${url}: ${clients} clients on ${documents} documents, ${rate} edits/s each, ${seconds} s`,
    '',
    row(['', 'p50', 'p99', 'worst', 'count']),
    line('edit seen by another client', found.edits),
    line('connect until synced', found.connects),
    line('REST replaces a text', found.rest),
    '',
    `edits: ${found.editsPerSecond}/s made, ${found.seenPerSecond}/s seen, ${found.neverSeen} never seen`,
    `closed, by code: ${listed(found.closes)}; REST errors: ${listed(found.restErrors)}`,
    `this program: ${own.cpuPercent} % of a core, p99 of its event loop ${ms(own.lateP99)}`,
    ...(isLimit
      ? ['This program was at its limit: use fewer clients or edits, or run it on several machines.']
      : []),
  ].join('\n')
}
