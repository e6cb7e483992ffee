/** Creates an element on the page for an editor. The test file must choose the environment `dom`. */
export function place(): HTMLElement {
  const made = document.createElement('div')
  document.body.append(made)
  return made
}
