"""The shop's addresses."""

from django.urls import path

from . import views

urlpatterns = [
    path("", views.product),
    path("buy", views.buy),
    path("orders/<reference>", views.order),
    path("events", views.events),
]
