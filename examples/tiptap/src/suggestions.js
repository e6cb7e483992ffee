const element = (name, text, className = '') => {
  const made = document.createElement(name)
  made.className = className
  made.textContent = text
  return made
}

/**
 * Shows the suggestions of all users next to the text.
 * @param isSuggesting true if this page edits the branch of its user; the page then accepts nothing
 */
export function suggestionPanel({ list, backend, user, isSuggesting }) {
  async function load() {
    const all = await backend('/suggestions')
    list.replaceChildren(...all.map((each) => cardOf(each, all)))
  }

  function cardOf(suggestion, all) {
    const card = element('li', '', 'suggestion')
    const { branch, deleted, inserted } = suggestion
    const text = element('p', '')
    if (deleted !== '') text.append(element('del', deleted))
    if (inserted !== '') text.append(element('ins', inserted))
    card.append(text)
    const row = element('div', '', 'row')
    const decide = (label, path, ids) => {
      const button = Object.assign(element('button', label), { type: 'button' })
      button.addEventListener('click', () => {
        button.disabled = true
        void backend(path, { branch, hunks: ids }).finally(load)
      })
      row.append(button)
    }
    if (!isSuggesting) decide('Accept', '/suggestions/accept', needed(suggestion, all))
    const isOwn = suggestion.userId === user.userId
    if (!isSuggesting || isOwn)
      decide(isOwn ? 'Withdraw' : 'Reject', '/suggestions/reject', dependent(suggestion, all))
    card.append(row)
    return card
  }

  return { load }
}

/** Returns the ids of a suggestion and of those on which it depends. */
function needed({ hunkId }, all) {
  const ids = new Set([hunkId])
  // A set visits the ids that are added while it is read.
  for (const id of ids)
    for (const one of all.find((each) => each.hunkId === id)?.dependsOn ?? []) ids.add(one)
  return [...ids]
}

/** Returns the ids of a suggestion and of those that depend on it. */
function dependent({ hunkId }, all) {
  const ids = new Set([hunkId])
  for (const id of ids) for (const each of all) if (each.dependsOn.includes(id)) ids.add(each.hunkId)
  return [...ids]
}
