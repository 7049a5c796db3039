// A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events.

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const { KASSA_SERVER_URL: server, KASSA_API_KEY: key, KASSA_EVENTS_SECRET: secret, PORT: port } = process.env;
const PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>';
const webhook = new Webhook(secret);
const orders = new Map(); // In a real shop this is a table of its database.

// docs: begin open
// Sends a request to the server. A refusal is thrown, and becomes an error page (500).
async function openCheckout(wanted) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const answer = await fetch(`${server}/v1/checkouts`, { method: "POST", headers, body: JSON.stringify(wanted) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
}
// docs: end open

function product() {
  return [200, `${PAGE}<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>`];
}

// docs: begin buy
async function buy() {
  const reference = `order-${randomBytes(5).toString("hex")}`;
  orders.set(reference, { reference, state: "not paid yet" });
  const return_url = `http://127.0.0.1:${port}/orders/${reference}`;
  const { page_url } = await openCheckout({ reference, amount: "390", description: "A jar of honey", return_url });
  return [303, "", page_url];
}
// docs: end buy

function show({ reference, state }) {
  return [200, `${PAGE}<meta http-equiv="refresh" content="3"><h1>Order ${reference} is ${state}</h1>`];
}

// docs: begin event
async function take(request) {
  const body = Buffer.concat(await request.toArray()).toString();
  let event;
  try { event = webhook.verify(body, request.headers); } catch { return [401]; }
  const { reference, amount, currency } = event.data ?? {};
  const order = orders.get(reference);
  if (!order) return [404]; // What is not taken comes again.
  // Once for each order: an event can come twice, and after a restore of the server under another identifier.
  // And for its price: another shop of the same server could have used the same reference.
  // With a database: one transaction that locks the order's row.
  const isWhole = amount === "390" && currency === "KGS";
  if (event.type === "checkout.paid" && isWhole && order.state !== "delivered") {
    order.state = "delivered";
    console.log("deliver", reference);
  }
  return [204];
}
// docs: end event

function route(request) {
  const [, name, reference] = request.url.split("?")[0].split("/");
  const order = orders.get(reference);
  const known = { "GET ": product, "POST buy": buy, "POST events": () => take(request) };
  const ofOrder = { "GET orders": () => show(order) };
  const found = (order ? ofOrder : known)[`${request.method} ${name}`];
  return found ? found() : [404];
}

createServer(async (request, response) => {
  const failed = (problem) => (console.error(problem), [500, `${PAGE}<h1>Please try again later</h1>`]);
  const [status, page = "", location] = await Promise.resolve(request).then(route).catch(failed);
  response.writeHead(status, { "Content-Type": "text/html; charset=utf-8", ...(location && { Location: location }) }).end(page);
}).listen(port, "127.0.0.1");
