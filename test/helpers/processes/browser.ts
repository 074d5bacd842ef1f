/**
 * The parts of a browser that a login needs: it follows redirects and keeps the cookies of one
 * host.
 */
export class Browser {
  readonly #cookies = new Map<string, string>()

  /** Follows redirects from `url` until one leads to `destination`; resolves to that address. */
  async follow(url: URL, destination: string): Promise<URL> {
    let next = url
    for (let hops = 0; hops < 10; hops++) {
      if (next.href.startsWith(destination)) return next
      const response = await fetch(next, {
        redirect: 'manual',
        headers: { cookie: this.#header() },
      })
      this.#keep(response.headers.getSetCookie())
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${response.status}: ${await response.text()}`)
      await response.body?.cancel()
      next = new URL(location, next)
    }
    throw new Error('too many redirects')
  }

  /** The page at `url`; of a form, its fields are given. */
  async open(url: URL, form?: Record<string, string>): Promise<string> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: this.#header() },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    this.#keep(response.headers.getSetCookie())
    return response.text()
  }

  #header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [pair = '', ...attributes] = cookie.split('; ')
      const [name = '', value = ''] = pair.split('=')
      const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice(8)
      const isOver = value === '' || (expires !== undefined && Date.parse(expires) < Date.now())
      if (isOver) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
  }
}
