<?php

// A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events.

const PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>';
ini_set('display_errors', '0'); // The log tells what went wrong, and no page does.
// A real shop has two database tables for these. PHP keeps no variables between requests, so they are files here.
define('ORDERS', sys_get_temp_dir() . '/shop-' . getenv('PORT'));
is_dir(ORDERS) || mkdir(ORDERS, 0700);

// docs: begin open
// Sends a request to the server. A refusal is thrown, and becomes an error page (500).
function open_checkout(array $wanted): array
{
    $headers = 'Authorization: Bearer ' . getenv('KASSA_API_KEY') . "\r\nContent-Type: application/json";
    $sent = ['method' => 'POST', 'header' => $headers, 'content' => json_encode($wanted), 'timeout' => 60];
    $answer = file_get_contents(getenv('KASSA_SERVER_URL') . '/v1/checkouts', false, stream_context_create(['http' => $sent]));
    return json_decode($answer ?: throw new Exception('the server refuses'), true, 64, JSON_THROW_ON_ERROR);
}
// docs: end open

function is_known(string $reference): bool
{
    return preg_match('/^order-[0-9a-f]{10}$/D', $reference) && file_exists(ORDERS . "/$reference");
}

// docs: begin buy
// Opens a checkout for a new order; returns the page on which to pay it.
function buy(): string
{
    $reference = 'order-' . bin2hex(random_bytes(5));
    touch(ORDERS . "/$reference");
    $back = 'http://127.0.0.1:' . getenv('PORT') . "/orders/$reference";
    $wanted = ['reference' => $reference, 'amount' => '390', 'description' => 'A jar of honey', 'return_url' => $back];
    return open_checkout($wanted)['page_url'];
}
// docs: end buy

// docs: begin event
// Standard Webhooks: one of the signatures is right, and is recent. There are libraries for PHP, too.
function is_signed(string $id, string $body): bool
{
    [$at, $signatures] = [$_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? ''];
    $secret = base64_decode(substr(getenv('KASSA_EVENTS_SECRET'), strlen('whsec_')));
    $right = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $secret, true));
    return abs(time() - (int) $at) < 300 && array_filter(explode(' ', $signatures), fn ($one) => hash_equals($right, $one));
}

function take(string $body): int
{
    ['type' => $type, 'data' => $data] = json_decode($body, true);
    $reference = $data['reference'];
    // For its price: another shop of the same server could have used the same reference.
    $is_whole = $data['amount'] === '390' && $data['currency'] === 'KGS';
    // Once for each order: an event can come twice, and after a restore of the server under another identifier.
    // With a database: one transaction that locks the order's row. Here a file is created once.
    if (is_known($reference) && $type === 'checkout.paid' && $is_whole && @fopen(ORDERS . "/$reference.delivered", 'x')) {
        file_put_contents('php://stdout', "deliver $reference\n");
    }
    return is_known($reference) ? 204 : 404; // What is not taken comes again.
}
// docs: end event

[, $name, $reference] = explode('/', parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) + ['', '', ''];
[$id, $body] = [$_SERVER['HTTP_WEBHOOK_ID'] ?? '', file_get_contents('php://input')];
$state = file_exists(ORDERS . "/$reference.delivered") ? 'delivered' : 'not paid yet';
match ("$_SERVER[REQUEST_METHOD] $name" . (is_known($reference) ? ' known' : '')) {
    'GET ' => print PAGE . '<h1>A jar of honey</h1><p>390 KGS</p><form method="post" action="/buy"><button>Buy</button></form>',
    'POST buy' => header('Location: ' . buy(), true, 303),
    'GET orders known' => print PAGE . "<meta http-equiv=refresh content=3>Order $reference is $state.",
    'POST events' => http_response_code(is_signed($id, $body) ? take($body) : 401),
    default => http_response_code(404),
};
