export interface Note {
  readonly by: string
  readonly text: string
}

/** What the application is about: notes, each in the tenant that it belongs to, or in none. */
export class Notes {
  readonly #notes = new Map<string | null, Note[]>([
    ['lazy-raccoon', [{ by: 'alice', text: 'The bins are emptied on Monday.' }]],
    ['busy-beaver', [{ by: 'carol', text: 'The dam needs three more logs.' }]],
  ])

  of(tenant: string | null): readonly Note[] {
    return this.#notes.get(tenant) ?? []
  }

  add(tenant: string, note: Note): Note {
    this.#notes.set(tenant, [...this.of(tenant), note])
    return note
  }
}
