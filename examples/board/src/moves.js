/**
 * Returns the possible moves of a card: `{ column, before }` for each of `up`, `down`, `left`, `right`, or
 * null.
 */
export function waysOf(board, id) {
  const columns = board.columns()
  const column = columns.findIndex(({ cards }) => cards.some((card) => card.id === id))
  if (column === -1) return { up: null, down: null, left: null, right: null }
  const { id: columnId, cards } = columns[column]
  const at = cards.findIndex((card) => card.id === id)
  const beside = (index) => {
    const next = columns[index]
    return next ? { column: next.id, before: next.cards[at]?.id ?? null } : null
  }
  return {
    up: at > 0 ? { column: columnId, before: cards[at - 1].id } : null,
    down: at < cards.length - 1 ? { column: columnId, before: cards[at + 2]?.id ?? null } : null,
    left: beside(column - 1),
    right: beside(column + 1),
  }
}

/** Describes the place of a card for screen readers. */
export function placeOf(board, id) {
  for (const { title, cards } of board.columns()) {
    const at = cards.findIndex((card) => card.id === id)
    if (at !== -1) return `“${cards[at].title}” is in ${title}, ${at + 1} of ${cards.length}`
  }
  return 'The card is gone'
}
